import asyncio
import sys


async def answer(ping, pong):
    while True:
        ball = await ping.get()
        if ball is None:
            return
        await pong.put(ball + 1)


async def play(n):
    ping = asyncio.Queue(1)
    pong = asyncio.Queue(1)
    player = asyncio.create_task(answer(ping, pong))
    total = 0
    for i in range(n):
        await ping.put(i)
        total = (total + await pong.get()) % 1000003
    await ping.put(None)
    await player
    return total


print(asyncio.run(play(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)))
