import asyncio
import sys


async def add(a, b):
    return a + b


async def work(n):
    total = 0
    for batch in range(n // 100):
        tasks = [asyncio.create_task(add(batch, i)) for i in range(100)]
        for task in tasks:
            total = (total + await task) % 1000003
    return total


async def work_thrice(n):
    total = 0
    for _ in range(3):
        total += await work(n)
    return total


print(asyncio.run(work_thrice(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)))
