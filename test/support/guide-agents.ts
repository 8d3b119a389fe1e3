/** Starts an agent of the document in the background, instead of the one before it, and waits until it listens. */
export const START_AGENT = `[ -z "$AGENT_PID" ] || { kill "$AGENT_PID"; wait "$AGENT_PID" || true; }
command node my-agent.mjs > agent.log 2>&1 & AGENT_PID=$!
for _ in $(seq 100); do grep -q listens agent.log && break; sleep 0.1; done
grep -q listens agent.log`;

/** The same with a telephone, whose port is replaced as that of agents. */
export const START_BARESIP = `command baresip -f sip-agent > agent.log 2>&1 < /dev/null & AGENT_PID=$!
for _ in $(seq 100); do (exec 3<> /dev/tcp/127.0.0.1/4010) 2> /dev/null && break; sleep 0.1; done`;
