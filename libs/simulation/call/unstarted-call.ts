import type { CallResult } from './call.js';
import { SIMULATION_VERSION } from './call.js';
import type { Failure } from '../timeline/failure.js';
import { measure } from '../measures/measures.js';
import { ModelMeter, testerUsage } from '../measures/tester-usage.js';
import { reliabilityOf } from '../time/stalls.js';
import { Timeline } from '../timeline/timeline.js';
import { decide } from './verdict.js';

/** The result of a call that could not be started. */
export function unstartedCall(transport: string, failure: Failure): CallResult {
  const timeline = new Timeline();
  timeline.failed(failure, 0);
  const end = timeline.ended('tester', 'failure', failure.message, 0);
  return {
    ...decide({ checks: [], criteria: [], end, failure, invalidity: undefined }),
    timeline: timeline.entries,
    end: { by: end.by, code: end.code, reason: end.reason },
    checks: [],
    criteria: [],
    measures: measure(timeline.entries, testerUsage(new ModelMeter(), new ModelMeter())),
    invalidity: null,
    versions: {
      simulation: SIMULATION_VERSION,
      transport,
      caller: 'scripted',
      model: null,
      callerPrompt: null,
      judgePrompt: null,
    },
    answeredTurns: 0,
    exchange: null,
    unusableAnswers: [],
    reliability: reliabilityOf([]),
    voice: null,
  };
}
