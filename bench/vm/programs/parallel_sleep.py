import asyncio
import sys


async def nap(i):
    await asyncio.sleep((i % 20 + 1) / 1000)
    return i * 2


async def naps(n):
    return sum(await asyncio.gather(*(nap(i) for i in range(n))))


async def naps_again(n):
    total = 0
    for _ in range(5):
        total += await naps(n)
    return total


print(asyncio.run(naps_again(int(sys.argv[1]) if len(sys.argv) > 1 else 10000)))
