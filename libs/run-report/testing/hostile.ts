import { LIMITS } from '../../evaluation-definition/index.js';
import type { CallResult, EndEntry, SpeechEntry, TimelineEntry } from '../../simulation/index.js';
import { comparisonWith } from './comparison.js';
import { matrixWith } from './matrix.js';
import { buildRun, type Built, type PlayedCall } from './build.js';

/** Text that might break a report; injected code would set `hacked` or send a request. */
export const HOSTILE: readonly string[] = [
  '</script><script>hacked=1</script>',
  '"><img src=x onerror=hacked=1>',
  "' onmouseover='hacked=1",
  '<svg/onload=hacked=1>',
  '</title></style><style>*{display:none}</style>',
  '<!-- --> ]]> <![CDATA[ x ]]> <?xml x?> <!DOCTYPE x [<!ENTITY a "b">]> &a; &#0; &lt; &amp;lt;',
  'javascript:hacked=1',
  '${hacked=1} {{hacked=1}} `hacked`',
  'left \u202Ethgir\u202C \u2066isolated\u2069 \u2028 \u2029',
  '\u0000\u0001\u0008\t\n\r\n\r\u000B\u001B[31mred\u007F\u0085\u009F',
  'half \uD83D pair \uDE00 \uFFFE \uFFFF \u{1FFFE} \uFDD0',
  'עברית العربية 日本語 👩‍👩‍👧‍👦 e\u0301',
  'x'.repeat(100_000),
];

/** A failed call in which every untrusted text is this one. */
export function hostileCall(text: string): CallResult {
  const span = { start: 0, end: 1_000, turn: 1 };
  const end: EndEntry = { type: 'end', by: 'agent', code: 'agent_hung_up', reason: text, ...span };
  const words: SpeechEntry = { type: 'speech', speaker: 'agent', text: `before ${text} after`, ...span };
  const timeline: TimelineEntry[] = [
    { type: 'speech', speaker: 'caller', text, start: 0, end: 0, turn: 1 },
    words,
    { type: 'tool_call', name: text, arguments: { [text]: text }, ...span },
    { type: 'tool_call', name: text, arguments: null, rawArguments: text, ...span },
    { type: 'silence', of: 'agent', ...span },
    { type: 'sound', speaker: 'caller', kind: 'keys', name: text.slice(0, LIMITS.keys), possible: true, ...span },
    { type: 'finding', code: text, severity: 'error', detail: text, ...span },
    { type: 'error', code: 'agent_error', message: text, ...span },
    end,
    { type: 'platform', event: 'transfer', detail: text, ...span },
  ];
  const asked = { weight: 1, required: true };
  const evidence = [0, 1, 2, 3, 4, 5, 6, 7, 8, 99].map((entry) => ({ entry, quote: text }));
  const model = { requests: 1, ms: 1, promptTokens: 1, completionTokens: 1, costUsd: 0 };
  return {
    outcome: 'failed',
    score: 0,
    reason: text,
    failure: null,
    timeline,
    end,
    checks: [{ index: 0, type: 'never_says', name: text, met: false, detail: text, evidence, ...asked }],
    criteria: [
      {
        index: 0,
        text,
        verdict: 'not_met',
        reason: `judged ${text}`,
        evidence: { entry: 1, quote: text },
        samples: [
          { met: false, reasoning: text, evidence: null },
          { met: true, reasoning: text, evidence: null },
        ],
        disagreement: true,
        ...asked,
      },
    ],
    measures: {
      durationMs: 1_000,
      turns: 1,
      latency: { count: 1, p50: 0, p90: null, p95: null, p99: null, worst: 0 },
      timeToFirstWordMs: 0,
      words: { caller: 1, agent: 3 },
      talkRatio: 0.75,
      longestSilenceMs: 0,
      toolCalls: 2,
      endedBy: 'agent',
      endCode: 'agent_hung_up',
      endReason: text,
      tester: { caller: model, judge: model, costUsd: 0 },
    },
    invalidity: null,
    versions: {
      simulation: '1',
      transport: 'in-process',
      caller: 'scripted',
      model: null,
      callerPrompt: null,
      judgePrompt: null,
    },
    answeredTurns: 1,
    exchange: {
      protocol: text,
      url: text,
      callId: text,
      requests: [
        { turn: 1, sentAtMs: 0, status: 200, firstByteMs: 1, tokenTimesMs: [1], finishReason: text, unreadable: text },
      ],
      omittedRequests: 0,
    },
    unusableAnswers: [{ task: 'caller', text }],
    voice: null,
    reliability: { reliable: true, stalls: [], worstStallMs: 0 },
  };
}

/** A run in which every untrusted text is hostile: one evaluation per text. */
export function hostileRun(texts: readonly string[] = HOSTILE): Built {
  const [first = ''] = texts;
  const calls = (text: string): PlayedCall[] => {
    const call = hostileCall(text);
    const uncounted = { ...call, score: null } as const;
    return [call, { ...uncounted, outcome: 'error' }, { ...uncounted, outcome: 'invalid' }, 'cancelled', 'pending'];
  };
  return buildRun(
    texts.map((text) => ({ name: text, key: text, tags: [text, text], critical: true, calls: calls(text) })),
    {
      ...{ name: first, agentName: first, agentVersion: first, reasons: texts, warnings: texts },
      comparison: comparisonWith(texts, first),
      matrix: matrixWith(texts, texts),
    },
  );
}
