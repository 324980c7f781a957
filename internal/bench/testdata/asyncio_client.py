"""Reads N streams as a benchmark client in Python does, and prints its cost.

usage: asyncio_client.py HOST PORT STREAMS

Plain asyncio connections without an HTTP library, which would cost more: per
chunk one line read, one stamp, one json.loads, the fields of a token.
"""
import asyncio, json, resource, sys, time


async def one(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}).encode()
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    stamps, tokens = [], 0
    while True:
        line = await reader.readline()
        at = time.perf_counter()
        if not line:
            break
        if not line.startswith(b"data: "):
            continue  # head, chunk sizes, blank lines
        data = line[6:].strip()
        if data == b"[DONE]":
            break
        event = json.loads(data)
        if event["choices"] and event["choices"][0]["delta"].get("content"):
            stamps.append(at)
        if event.get("usage"):
            tokens = event["usage"]["completion_tokens"]
    writer.close()
    assert tokens == len(stamps), (tokens, len(stamps))
    return len(stamps)


async def main():
    before = resource.getrusage(resource.RUSAGE_SELF)
    counts = await asyncio.gather(*(one(sys.argv[1], int(sys.argv[2])) for _ in range(int(sys.argv[3]))))
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"chunks": sum(counts), "cpu_seconds": used}))


asyncio.run(main())
