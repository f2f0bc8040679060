"""A small OpenAI-compatible chat service on this machine, for the examples that call one.

It has what real services have: latency, a rate limit, failures, a key, a price per token. It
answers by a reader that is deterministic but for its temperature: for every question in the
prompt, it picks the sentence of the given documents that shares most words with it.
"""

import json
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-local-example-key"
COMMON = """a an and are as at by did do does for from has have how in is it its of on or that the
their there they this to was were what when where which who why with"""


def words(text):
    common = COMMON.split()
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in common}


def read(prompt, temperature, rng):
    """The sentences of the documents that answer the questions, the best for each."""
    context, _, asked = prompt.rpartition("Questions:")
    sentences = [each.strip() for each in re.split(r"(?<=[.!])\s+", context) if each.strip()]
    answers = []
    for question in filter(None, (each.strip() for each in asked.split("?"))):
        wanted = words(question)
        ranked = sorted(sentences, key=lambda sentence: -len(wanted & words(sentence)))
        ranked = [each for each in ranked if len(wanted & words(each)) >= 2]
        if len(ranked) > 1 and rng.random() < temperature / 5:
            ranked = ranked[1:]  # a slip: the second best
        answers.append(ranked[0] if ranked else "I do not know.")
    return " ".join(answers)


class ChatServer:
    """The service; use it as a context. ``asked`` and ``answered`` list its requests."""

    def __init__(self, latency=0.02, per_minute=None, failures=0.0, answer=read, seed=0):
        self.latency, self.per_minute, self.failures = latency, per_minute, failures
        self.answer, self.seed = answer, seed
        self.asked, self.answered, self.refused = [], [], 0
        self._lock, self._times = threading.Lock(), []

    def __enter__(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, found = service.respond(dict(self.headers), json.loads(body))
                text = json.dumps(found).encode()
                try:
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": len(text)}.items():
                        self.send_header(name, str(value))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # the caller gave up

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 128

            def handle_error(self, request, client_address):
                pass  # a caller that was killed

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._server.server_close()

    def respond(self, headers, request):
        """Status, headers and body of the answer to one request."""
        prompt = "\n".join(each["content"] for each in request["messages"])
        now = time.monotonic()
        with self._lock:
            number = len(self.asked)
            self.asked.append(prompt)
            self._times = [each for each in self._times if each > now - 60]
            full = self.per_minute is not None and len(self._times) >= self.per_minute
            if full:
                self.refused += 1
            else:
                self._times.append(now)
        if full:
            wait = round(self._times[0] + 60 - now, 2)
            return 429, {"Retry-After": wait}, {"error": {"message": "rate limit"}}
        if headers.get("Authorization") != f"Bearer {KEY}":
            return 401, {}, {"error": {"message": "wrong key", "code": "invalid_api_key"}}
        rng = random.Random(f"{self.seed} {number}")
        if rng.random() < self.failures:
            return 503, {}, {"error": {"message": "overloaded"}}
        time.sleep(self.latency)
        text = self.answer(prompt, request.get("temperature", 0.0), rng)
        with self._lock:
            self.answered.append(prompt)
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        return 200, {}, {"choices": [choice], "usage": usage}
