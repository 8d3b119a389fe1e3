import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Starts an agent of the document in the background, instead of the one before it, and waits until it listens. */
const START_AGENT = `[ -z "$AGENT_PID" ] || { kill "$AGENT_PID"; wait "$AGENT_PID" || true; }
command node my-agent.mjs > agent.log 2>&1 & AGENT_PID=$!
for _ in $(seq 100); do grep -q listens agent.log && break; sleep 0.1; done
grep -q listens agent.log`;

/** Starts a program of others in the background and waits until it listens. */
const start = (command: string, port: number) => `command ${command} >> program.log 2>&1 < /dev/null &
for _ in $(seq 300); do (exec 3<> /dev/tcp/127.0.0.1/${port}) 2> /dev/null && break; sleep 0.1; done
(exec 3<> /dev/tcp/127.0.0.1/${port}) || { cat program.log >&2; exit 95; }`;

/** Lets the agents and trunks of a guide, which run in terminals of their own, run beside its other commands. */
export const inBackground = (commands: string): string =>
  commands
    .replaceAll(/^node my-agent\.mjs$/gm, START_AGENT)
    .replaceAll(/^baresip -f sip-agent$/gm, (command) => start(command, 4010))
    .replaceAll(/^baresip -f \.$/gm, (command) => start(command, 4090))
    .replaceAll(/^\/usr\/sbin\/kamailio .*$/gm, (command) => start(command, 5070));

/** The settings of the service with which the guide to agents that call starts it, with another port of its trunk. */
export function trunkSettings(guide: string, port: number, folder: string): NodeJS.ProcessEnv {
  const [, accounts, file, name, password] = /^echo '(.+)' > (\S+)\nSIP_ACCOUNTS=\2 (\w+)=(\w+) /m.exec(
    readFileSync(guide, 'utf8'),
  )!;
  const SIP_ACCOUNTS = path.join(folder, file!);
  writeFileSync(SIP_ACCOUNTS, accounts!.replace('5070', String(port)));
  return { SIP_ACCOUNTS, [name!]: password };
}
