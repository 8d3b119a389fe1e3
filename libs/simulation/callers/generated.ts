import type { HistoryLine } from '../../evaluation-definition/index.js';
import { sanitizeText, truncate } from '../timeline/text.js';
import type { Clock } from '../time/clock.js';
import { type AnswerObject, objectsIn } from '../model/answer-objects.js';
import { quotedJson } from '../model/quoted-json.js';
import type { LanguageModel, Message } from '../model/llm.js';
import type { ModelMeter } from '../measures/tester-usage.js';
import { type Caller, type CallerAction, CallerUnusable, type AgentReply } from './caller.js';
import {
  ASK_AGAIN,
  CALL_ANSWERED,
  CALL_BEGINS,
  CALL_GOES_ON,
  callerInstructions,
  GO_ON,
  NOTHING_HEARD,
  type Personality,
  type Scenario,
  YOU_INTERRUPT,
} from './persona.js';

export interface GeneratedCallerOptions {
  readonly model: LanguageModel;
  readonly personality: Personality;
  readonly scenario: Scenario;
  readonly isVoice: boolean;
  /** What was said before the call. */
  readonly history?: readonly HistoryLine[];
  readonly clock: Clock;
  readonly meter: ModelMeter;
  readonly onUnusable: (answer: string) => void;
}

const DEFAULT_TEMPERATURE = 0.7;
/** Maximum length of a line, in characters; longer ones are unusable. */
const MAX_LINE = 2_000;
const MAX_REASON = 255;
/** A line of at least this number of words, of which at most this share is different, is babble. */
const MIN_BABBLE = 12;
const MAX_BABBLE_SHARE = 0.25;

interface Line {
  readonly say: string;
  readonly end: string | undefined;
}

/** The words of either side, in the form of those of the call. */
function saidBefore(line: HistoryLine): Message[] {
  if ('caller' in line) return [{ role: 'assistant', content: JSON.stringify({ say: line.caller, end: null }) }];
  return 'agent' in line ? [{ role: 'user', content: quotedJson({ agent: line.agent }) }] : [];
}

/** A caller played by a language model. */
export class GeneratedCaller implements Caller {
  readonly kind = 'generated';
  private readonly messages: Message[];
  /** The reason given with the caller's last words: the caller hangs up after the agent's answer. */
  private ending: string | undefined;
  /** Before the latest `next`. */
  private before: { readonly messages: number; readonly ending: string | undefined };

  constructor(private readonly options: GeneratedCallerOptions) {
    const { personality, scenario, isVoice, history = [] } = options;
    this.messages = [
      { role: 'system', content: callerInstructions(personality, scenario, isVoice) },
      ...history.flatMap(saidBefore),
    ];
    this.before = { messages: this.messages.length, ending: undefined };
  }

  async next({ answer, isSilent, spoken, interrupted }: AgentReply, signal: AbortSignal): Promise<CallerAction> {
    const latest = this.messages.at(-1);
    if (spoken !== undefined && latest?.role === 'assistant') {
      this.messages[this.messages.length - 1] = {
        role: 'assistant',
        content: JSON.stringify({ say: spoken, end: null }),
      };
    }
    this.before = { messages: this.messages.length, ending: this.ending };
    if (this.ending !== undefined) return this.hangUp(this.ending);
    // As JSON, so that the agent's words cannot imitate what happens on the line.
    if (interrupted) {
      const { heard, said } = interrupted;
      const words = heard === '' ? {} : { agent: heard };
      this.messages.push({ role: 'user', content: quotedJson({ ...words, call: YOU_INTERRUPT }) });
      this.messages.push({ role: 'assistant', content: JSON.stringify({ say: said, end: null }) });
    }
    const { history = [], scenario } = this.options;
    const first = history.length > 0 ? CALL_GOES_ON : scenario.isCalled ? CALL_ANSWERED : CALL_BEGINS;
    const begins = interrupted ? GO_ON : first;
    const heard = isSilent ? { call: NOTHING_HEARD } : answer === '' ? { call: begins } : { agent: answer };
    this.messages.push({ role: 'user', content: quotedJson(heard) });
    const { say, end } = await this.line(signal);
    this.messages.push({ role: 'assistant', content: JSON.stringify({ say, end: end ?? null }) });
    if (say === '') return this.hangUp(end ?? '');
    this.ending = end;
    return { type: 'speak', line: [say] };
  }

  ahead(): CallerAction | undefined {
    return this.ending === undefined ? undefined : this.hangUp(this.ending);
  }

  retract(): void {
    this.messages.length = this.before.messages;
    this.ending = this.before.ending;
  }

  private hangUp(reason: string): CallerAction {
    return { type: 'hang_up', code: 'caller_done', reason };
  }

  /** Asks a second time when the answer is unusable. @throws CallerUnusable when the second one is too */
  private async line(signal: AbortSignal): Promise<Line> {
    const first = await this.ask(this.messages, signal);
    const line = readLine(first);
    if (line) return line;
    this.options.onUnusable(first);
    const again: Message[] = [
      ...this.messages,
      { role: 'assistant', content: truncate(first, MAX_LINE) || '(nothing)' },
      { role: 'user', content: ASK_AGAIN },
    ];
    const second = await this.ask(again, signal);
    const corrected = readLine(second);
    if (corrected) return corrected;
    this.options.onUnusable(second);
    throw new CallerUnusable('The model that plays the caller gave two unusable answers');
  }

  private ask(messages: readonly Message[], signal: AbortSignal): Promise<string> {
    const { model, personality, clock, meter } = this.options;
    return model.ask(messages, { temperature: personality.temperature ?? DEFAULT_TEMPERATURE, clock, signal, meter });
  }
}

/** The line in an answer; undefined if there is none, or several that differ. */
function readLine(answer: string): Line | undefined {
  const lines = objectsIn(answer).flatMap(({ value }) => lineOf(value) ?? []);
  return new Set(lines.map((line) => JSON.stringify(line))).size === 1 ? lines[0] : undefined;
}

function lineOf({ say, end }: AnswerObject['value']): Line | undefined {
  if (say !== undefined && say !== null && typeof say !== 'string') return undefined;
  const words = sanitizeText(say ?? '').trim();
  const reason = typeof end === 'string' ? truncate(sanitizeText(end).trim(), MAX_REASON) : '';
  if ((words === '' && reason === '') || words.length > MAX_LINE || (words !== '' && !isSpeech(words)))
    return undefined;
  return { say: words, end: reason === '' ? undefined : reason };
}

/** A line that is only signs, contains the form of the answer, or repeats a few words over and over is not speech. */
function isSpeech(line: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(line) || /"(say|end)"\s*:/.test(line)) return false;
  const words = line.toLowerCase().split(/\s+/);
  return words.length < MIN_BABBLE || new Set(words).size / words.length > MAX_BABBLE_SHARE;
}
