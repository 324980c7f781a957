"""Reads N streams as a benchmark client in Python does, and prints its cost.

usage: asyncio_client.py HOST PORT STREAMS [aiohttp]

Without a last word: plain asyncio connections and no HTTP library, the least that
Python can do per chunk: a line read, a stamp, a json.loads, the fields of a token.
With aiohttp: the client that benchmark tools are written with.
"""
import asyncio, json, resource, sys, time

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}).encode()


class Stream:
    def __init__(self):
        self.stamps, self.tokens = [], 0

    def line(self, line):
        """Takes one line; true at the end of the answer."""
        at = time.perf_counter()
        if not line.startswith(b"data: "):
            return False  # head, chunk sizes, blank lines
        data = line[6:].strip()
        if data == b"[DONE]":
            return True
        event = json.loads(data)
        if event["choices"] and event["choices"][0]["delta"].get("content"):
            self.stamps.append(at)
        if event.get("usage"):
            self.tokens = event["usage"]["completion_tokens"]
        return False

    def count(self):
        assert self.tokens == len(self.stamps), (self.tokens, len(self.stamps))
        return self.tokens


async def plain(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
    s = Stream()
    while line := await reader.readline():
        if s.line(line):
            break
    writer.close()
    return s.count()


async def with_aiohttp(session, host, port):
    s = Stream()
    async with session.post("http://%s:%s/v1/chat/completions" % (host, port), data=BODY, headers={"Content-Type": "application/json"}) as answer:
        async for line in answer.content:
            if s.line(line):
                break
    return s.count()


async def main():
    host, port, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    before = resource.getrusage(resource.RUSAGE_SELF)
    if sys.argv[4:] == ["aiohttp"]:
        import aiohttp
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)) as session:
            counts = await asyncio.gather(*(with_aiohttp(session, host, port) for _ in range(n)))
    else:
        counts = await asyncio.gather(*(plain(host, int(port)) for _ in range(n)))
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"chunks": sum(counts), "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}))


asyncio.run(main())
