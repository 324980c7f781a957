// An OpenAI-compatible server around the prebuilt llama.cpp of node-llama-cpp: what the
// loop of docs/loop.md measures. It takes the flags of llama-server that it needs and
// ignores those that have no meaning on a CPU.
//
// Generation goes in rounds: in each one every request underway gets one token, in one
// batch of the engine, and prompts that wait are read. GET /steps tells how long the
// rounds took, by wall clock and by CPU time, which others on the machine do not stretch.
import http from "node:http";
import fs from "node:fs";
import process from "node:process";
import {parseArgs} from "node:util";
import {getLlama} from "node-llama-cpp";

const maxBody = 16 << 20;
const maxSteps = 1 << 14;

const {values: flags} = parseArgs({strict: true, allowPositionals: false, options: {
    model: {type: "string"}, alias: {type: "string"}, host: {type: "string", default: "127.0.0.1"}, port: {type: "string", default: "8080"},
    parallel: {type: "string", default: "1"}, threads: {type: "string", default: "1"}, "ctx-size": {type: "string", default: "1024"},
    "batch-size": {type: "string", default: "512"},
    // Pages of a mapped file may be slow to touch at times, see docs/loop.md; the loop measures without.
    "no-mmap": {type: "boolean", default: false},
    // llama-server's, without a meaning here
    "n-gpu-layers": {type: "string"}, "split-mode": {type: "string"}, "tensor-split": {type: "string"}, "no-cache-prompt": {type: "boolean"}, metrics: {type: "boolean"}
}});

function count(name, least) {
    const n = Number(flags[name]);
    if (!Number.isInteger(n) || n < least) fail(`--${name} ${flags[name]}: give a whole number from ${least}`);
    return n;
}

function fail(message) {
    process.stderr.write(`server.mjs: ${message}\n`);
    process.exit(2);
}

if (!flags.model || !fs.existsSync(flags.model)) fail(`--model ${flags.model ?? "is missing"}: give a GGUF file`);
const slots = count("parallel", 1), threads = count("threads", 1), batchSize = count("batch-size", 1), port = count("port", 0);
const contextSize = Math.floor(count("ctx-size", 1) / slots);
const served = flags.alias ?? "local";

const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: threads});
const model = await llama.loadModel({modelPath: flags.model, useMmap: !flags["no-mmap"]});
const context = await model.createContext({sequences: slots, contextSize, threads, batchSize});
const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
// llama.cpp computes sequences in one batch where their numbers follow one another: the
// lowest free slot is taken, and rounds go through them in order.
const free = Array.from({length: slots}, (_, slot) => ({slot, sequence: context.getSequence()}));

// Requests that wait for a slot, and those underway.
const waiting = [], running = new Set();
const steps = [];

class Bad extends Error {
    constructor(status, message) { super(message); this.status = status; }
}

// mainThread is the nanoseconds that this thread ran, 0 where the system does not say.
function mainThread() {
    try {
        return Number(fs.readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]);
    } catch {
        return 0;
    }
}

function clocks() {
    const cpu = process.cpuUsage();
    return {wall: performance.now(), cpu: (cpu.user + cpu.system) / 1000, host: mainThread() / 1e6};
}

// rounds runs while there is anything to do.
let active = false;
async function rounds() {
    if (active) return;
    active = true;
    try {
        for (;;) {
            while (free.length > 0 && waiting.length > 0) begin(waiting.shift());
            if (running.size === 0) break;
            await round();
            await new Promise(setImmediate); // new requests and closed connections get their turn
        }
    } finally {
        active = false;
    }
}

function begin(job) {
    if (job.closed) return;
    Object.assign(job, free.shift());
    job.tokens = 0;
    running.add(job);
}

async function round() {
    const jobs = [...running].sort((a, b) => a.slot - b.slot), before = clocks();
    const prompts = jobs.filter((j) => j.iterator === undefined);
    for (const j of prompts) {
        await j.sequence.clearHistory();
        j.iterator = j.sequence.evaluate(j.prompt, {temperature: j.temperature, seed: j.seed, yieldEogToken: true})[Symbol.asyncIterator]();
    }
    const cached = jobs.reduce((n, j) => n + (prompts.includes(j) ? 0 : j.prompt.length + j.tokens), 0);
    const results = await Promise.allSettled(jobs.map((j) => j.iterator.next()));
    for (const [i, r] of results.entries()) {
        if (r.status === "rejected") jobs[i].end("error", r.reason);
        else if (r.value.done) jobs[i].end("stop");
        else jobs[i].token(r.value.value);
    }
    const after = clocks();
    if (steps.length >= maxSteps) steps.shift();
    steps.push({
        generating: jobs.length - prompts.length, prompts: prompts.length, prompt_tokens: prompts.reduce((n, j) => n + j.prompt.length, 0),
        context: jobs.length > prompts.length ? cached / (jobs.length - prompts.length) : 0,
        wall_ms: after.wall - before.wall, cpu_ms: after.cpu - before.cpu, host_ms: after.host - before.host
    });
}

// parse turns a request's body into a job, or throws what is wrong with it.
function parse(q, chat) {
    const max = q.max_completion_tokens ?? q.max_tokens ?? 16;
    if (!Number.isInteger(max) || max < 1) throw new Bad(400, "max_tokens must be a whole number from 1");
    if ((q.n ?? 1) !== 1) throw new Bad(400, "n must be 1");
    const temperature = q.temperature ?? 0.8;
    if (typeof temperature !== "number" || !(temperature >= 0)) throw new Bad(400, "temperature must be a number from 0");
    let text = q.prompt;
    if (chat) {
        if (!Array.isArray(q.messages) || q.messages.length === 0 || q.messages.some((m) => typeof m?.content !== "string"))
            throw new Bad(400, "messages must be a list of {role, content} with a text as content");
        text = q.messages.map((m) => `${m.role}: ${m.content}`).join("\n") + "\nassistant:";
    }
    let prompt;
    if (typeof text === "string") prompt = model.tokenize(text);
    else if (Array.isArray(text) && text.every((t) => Number.isInteger(t) && t >= 0 && t < vocabulary)) prompt = text;
    else throw new Bad(400, `prompt must be a text or a list of token ids below ${vocabulary}`);
    if (prompt.length === 0) throw new Bad(400, "prompt is empty");
    if (prompt.length + max > contextSize)
        throw new Bad(400, `prompt of ${prompt.length} tokens and max_tokens ${max} pass the context of ${contextSize}`);
    return {prompt, max, temperature, seed: q.seed ?? 1, ignoreEOS: q.ignore_eos === true, stream: q.stream === true, usage: q.stream_options?.include_usage === true};
}

let requests = 0;
function serve(job, chat, res) {
    const id = `${chat ? "chatcmpl" : "cmpl"}-${++requests}`, created = Math.floor(Date.now() / 1000);
    let text = "";
    const envelope = (kind, choices, more) => JSON.stringify({id, object: kind, created, model: served, choices, ...more});
    const send = (choices, more) => res.write("data: " + envelope(chat ? "chat.completion.chunk" : "text_completion", choices, more) + "\n\n");
    const piece = (s, reason) => [chat ? {index: 0, delta: s === null ? {} : {content: s}, finish_reason: reason} : {index: 0, text: s ?? "", finish_reason: reason}];
    if (job.stream) {
        res.writeHead(200, {"content-type": "text/event-stream", "cache-control": "no-cache"});
        res.flushHeaders();
    }
    job.token = (t) => {
        if (job.closed) return job.end("cancelled");
        if (model.isEogToken(t) && !job.ignoreEOS) return job.end("stop");
        job.tokens++;
        const s = model.detokenize([t], true);
        text += s;
        if (job.stream) send(piece(s, null));
        if (job.tokens >= job.max) job.end("length");
    };
    job.end = (reason, error) => {
        running.delete(job);
        free.push({slot: job.slot, sequence: job.sequence});
        free.sort((a, b) => a.slot - b.slot);
        job.iterator?.return?.().catch(() => {});
        if (reason === "cancelled" || job.closed) return;
        const usage = {prompt_tokens: job.prompt.length, completion_tokens: job.tokens, total_tokens: job.prompt.length + job.tokens};
        if (reason === "error") {
            const body = {error: {message: String(error?.message ?? error), type: "server_error"}};
            if (job.stream) res.end(`data: ${JSON.stringify(body)}\n\n`);
            else reply(res, 500, body);
        } else if (job.stream) {
            send(piece(null, reason));
            if (job.usage) send([], {usage});
            res.end("data: [DONE]\n\n");
        } else {
            const choice = chat ? {index: 0, message: {role: "assistant", content: text}, finish_reason: reason} : {index: 0, text, finish_reason: reason};
            res.setHeader("content-type", "application/json");
            res.end(envelope(chat ? "chat.completion" : "text_completion", [choice], {usage}));
        }
    };
    res.on("close", () => { job.closed = true; });
    waiting.push(job);
    rounds().catch((e) => { process.stderr.write(`server.mjs: ${e.stack ?? e}\n`); process.exit(1); });
}

function reply(res, status, body) {
    res.writeHead(status, {"content-type": "application/json"});
    res.end(JSON.stringify(body));
}

async function body(req) {
    let size = 0;
    const parts = [];
    for await (const part of req) {
        size += part.length;
        if (size > maxBody) throw new Bad(413, `the body passes ${maxBody} bytes`);
        parts.push(part);
    }
    try {
        const q = JSON.parse(Buffer.concat(parts).toString("utf8"));
        if (q !== null && typeof q === "object" && !Array.isArray(q)) return q;
    } catch { /* said below */ }
    throw new Bad(400, "the body is no JSON object");
}

async function answer(req, res) {
    const path = new URL(req.url, "http://local").pathname;
    const chat = path === "/v1/chat/completions";
    if (req.method === "GET" && path === "/health") return reply(res, 200, {status: "ok"});
    if (req.method === "GET" && path === "/v1/models") return reply(res, 200, {object: "list", data: [{id: served, object: "model", created: 0, owned_by: "local"}]});
    if (req.method === "GET" && path === "/steps") return reply(res, 200, {llamacpp_steps: steps.splice(0), model: flags.model, threads});
    if (!chat && path !== "/v1/completions") throw new Bad(404, `nothing at ${path}`);
    if (req.method !== "POST") throw new Bad(405, `${path} takes POST`);
    serve(parse(await body(req), chat), chat, res);
}

const server = http.createServer((req, res) => {
    answer(req, res).catch((e) => {
        const status = e instanceof Bad ? e.status : 500;
        if (res.headersSent) res.destroy();
        else reply(res, status, {error: {message: e.message, type: status < 500 ? "invalid_request_error" : "server_error"}});
    });
});
server.on("error", (e) => fail(`--host ${flags.host} --port ${port}: ${e.message}`));
server.listen(port, flags.host, () => process.stdout.write(`listening on http://${flags.host}:${server.address().port}\n`));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
