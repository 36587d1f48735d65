/// The programs of a soak that are in Python: an agent, and the chat.
enum AgentScripts {
  /// Prints its numbered lines, some of them questions, and ends once each of these has its answer.
  /// It appends each line that it reads to NAME.input, with the time, and leaves in NAME.end how
  /// many lines it has printed.
  static let agent = #"""
    import json, os, random, select, sys, time

    name, lines, pace, questions, status, seed, folder = sys.argv[1:]
    lines, pace, questions = int(lines), float(pace), int(questions)
    chance = random.Random(int(seed))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    taken = os.open(f"{folder}/{name}.input", flags, 0o600)
    starts = os.open(f"{folder}/{name}.starts", flags, 0o600)
    os.write(starts, b"started\n")
    rest, open_questions, has_input, is_begun = b"", set(), True, False

    def read(wait):
        global rest, has_input, is_begun
        end = time.monotonic() + wait
        while (left := end - time.monotonic()) > 0:
            if not has_input:
                time.sleep(left)
                return
            if not select.select([0], [], [], left)[0]:
                return
            data = os.read(0, 65536)
            has_input = bool(data)
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                now = time.time()
                os.write(taken, b"%.4f\t%s\n" % (now, line))
                is_begun = True
                if line.startswith(b"{"):
                    open_questions.discard(json.loads(line)["id"])

    def ask(number):
        options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                   {"optionId": "no", "name": "Refuse", "kind": "reject_once"}]
        call = {"toolCallId": str(number), "title": f"Run {number}?"}
        open_questions.add(number)
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": "session/request_permission",
                          "params": {"sessionId": "s", "toolCall": call, "options": options}}),
              flush=True)

    while not is_begun and has_input:
        read(1)
    printed = 0
    while printed < lines and not os.path.exists(f"{folder}/stop"):
        printed += 1
        if questions and chance.randrange(questions) == 0:
            ask(printed)
        else:
            print(f"line {printed}", flush=True)
        read(pace)
    while open_questions and has_input:
        read(1)
    with open(f"{folder}/{name}.end", "w") as file:
        file.write(str(printed))
    sys.exit(int(status))
    """#

  /// Appends each message to a file, with the time, and acknowledges it then.
  static let chat = #"""
    import asyncio, json, os, sys, time
    import websockets

    port, path = int(sys.argv[1]), sys.argv[2]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def talk(socket, *path):
        try:
            async for text in socket:
                message = json.loads(text)
                now = time.time()
                os.write(log, f"{now:.4f}\t{message['id']}\t{message['text']}\n".encode())
                await socket.send(json.dumps({"ack": message["id"]}))
        except websockets.ConnectionClosed:
            pass

    async def main():
        async with websockets.serve(talk, "127.0.0.1", port, ping_interval=None):
            print("ready", flush=True)
            await asyncio.Future()

    asyncio.run(main())
    """#
}
