"""Reads N streams as a benchmark client in Python does, and prints its cost.

usage: asyncio_client.py HOST PORT STREAMS [aiohttp]

It does what `ridgeline bench` does with a chunk: a stamp before anything is parsed, the
fields of a server-sent event, json.loads, errors, every channel that tokens come on, the
reason of the end and the counts. Without a last word it has plain asyncio connections and no
HTTP library, the least that Python can do. With aiohttp it is the client that benchmark tools
are written with.
"""
import asyncio, json, resource, sys, time

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}).encode()


class Stream:
    def __init__(self):
        self.chunks, self.tokens, self.finish, self.first, self.data, self.kind = [], 0, None, -1, None, None

    def line(self, line):
        """Takes one line; true at the end of the answer."""
        at = time.perf_counter()
        line = line.rstrip(b"\r\n")
        if line:
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self.data = value if self.data is None else self.data + b"\n" + value
            elif name == b"event":
                self.kind = value
            return False  # a comment, or the head and the sizes of HTTP's chunks
        data, kind, self.data, self.kind = self.data, self.kind, None, None
        if data is None:
            return False
        if data == b"[DONE]":
            return True
        self.event(at, kind, json.loads(data))
        return False

    def event(self, at, kind, event):
        if kind == b"error" or event.get("error") or event.get("object") == "error":
            raise RuntimeError("the stream says error")
        before = self.tokens
        if usage := event.get("usage"):
            self.tokens = usage.get("completion_tokens", 0)
        for choice in event.get("choices", ())[:1]:
            delta = choice.get("delta", {})
            answer = delta.get("content") or choice.get("text") or ""
            thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
            if choice.get("finish_reason"):
                self.finish = choice["finish_reason"]
            if answer or thought or delta.get("refusal") or delta.get("tool_calls"):
                self.chunks.append((at, self.tokens - before))
                if self.first < 0 and answer.strip():
                    self.first = len(self.chunks) - 1

    def count(self):
        assert self.finish and self.tokens == len(self.chunks), (self.finish, self.tokens, len(self.chunks))
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
    print(json.dumps({"chunks": sum(counts), "user_seconds": after.ru_utime - before.ru_utime, "system_seconds": after.ru_stime - before.ru_stime}))


asyncio.run(main())
