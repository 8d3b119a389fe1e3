import { GREETING, respond, START, type State } from '../dialogue.js';
import { type Behaviour, behaviourOf, BREAKDOWN_TURN, type FaultName } from '../faults.js';
import { FACTS } from '../restaurant.js';
import { runTool } from '../tools.js';
import { understand, type Understanding } from '../understanding/understand.js';
import { MONOLOGUE, NOT_UNDERSTOOD, TRANSFER, UNKNOWN_KEY } from './spoken-dialogue.js';
import { sentencesOf } from './voice.js';

/**
 * The sentences that the agent can say to callers with these lines on this day, whatever their order.
 * @param faults those in its words that it may have
 */
export function repertoireOf(lines: readonly string[], today: number, faults: readonly FaultName[] = []): string[] {
  const replies = [GREETING, FACTS.hours, FACTS.address, TRANSFER, UNKNOWN_KEY, MONOLOGUE];
  const understood = new UnderstandingCache(today);
  replies.push(...repliesOf(lines, understood, behaviourOf(undefined), 1));
  // Some faults begin at this turn; what is said before is said without a fault, too.
  for (const fault of faults) replies.push(...repliesOf(lines, understood, behaviourOf(fault), BREAKDOWN_TURN));
  return [...new Set(replies.flatMap(sentencesOf))];
}

/** Understands each line once per question: the same few are said in thousands of states. */
class UnderstandingCache {
  private readonly entries = new Map<string, Understanding>();

  constructor(private readonly today: number) {}

  get(line: string, asked: State['asked']): Understanding {
    const key = `${asked} ${line}`;
    const heard = this.entries.get(key) ?? understand(line, asked, this.today);
    this.entries.set(key, heard);
    return heard;
  }
}

/** @param later what counts as the number of turns so far, after the first one */
function repliesOf(
  lines: readonly string[],
  understood: UnderstandingCache,
  behaviour: Behaviour,
  later: number,
): string[] {
  const replies: string[] = [];
  const names = new Set(lines.map((line) => nameIn(line, understood)));
  const seen = new Set<string>();
  const open: State[] = [START];
  for (let state = open.pop(); state; state = open.pop()) {
    for (const said of new Set([...lines, NOT_UNDERSTOOD])) {
      const { reply, state: next } = turnOf(state, understood.get(said, state.asked), behaviour, later);
      replies.push(reply);
      // After the end of the call every answer is the same, so that all such states are one.
      const key = next.hasEnded ? 'ended' : JSON.stringify(next);
      // "Yes, please." is not a name, but is taken for one by an agent that has asked for it: one such answer is enough.
      if (seen.has(key) || !names.has(next.details.name)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return replies;
}

/** The name in a line that gives one, or that can be nothing but a name. */
function nameIn(line: string, understood: UnderstandingCache): string | undefined {
  const { details, says, facts } = understood.get(line, undefined);
  const isEmpty = Object.keys(details).length === 0 && facts.length === 0 && !Object.values(says).some(Boolean);
  return isEmpty ? understood.get(line, 'name').details.name : details.name;
}

function turnOf(before: State, heard: Understanding, behaviour: Behaviour, later: number) {
  const turn = respond(before, heard, behaviour, true);
  let step = turn.next();
  while (!step.done) step = turn.next(runTool(step.value));
  // What is left out changes no sentence of a later answer.
  const { checked: _checked, ...state } = step.value.state;
  return { reply: step.value.reply, state: { ...state, turn: later, lastReply: '' } satisfies State };
}
