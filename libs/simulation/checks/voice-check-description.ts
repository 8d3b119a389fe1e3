import type { SoundCheckSpec } from '../../evaluation-definition/index.js';

/** Describes a check of a voice call, as a clause. */
export function voiceCheckText(check: Exclude<SoundCheckSpec, { readonly type: 'hears_keys' }>): string {
  switch (check.type) {
    case 'yields_within_ms':
      return `the agent stops speaking within ${check.ms} ms when the caller barges in`;
    case 'keeps_speaking':
      return 'the agent keeps its turn through every backchannel and noise of the caller';
    case 'max_interruptions':
      return check.count === 0
        ? 'the agent never interrupts the caller'
        : `the agent interrupts the caller at most ${check.count} ${check.count === 1 ? 'time' : 'times'}`;
    case 'max_overlap_ms':
      return `the agent speaks over the caller for at most ${check.ms} ms`;
    case 'speaking_rate':
      return `the agent speaks ${range(check.minWpm, check.maxWpm)} words per minute`;
    case 'audio_level':
      return levelText(check);
    case 'max_choppiness':
      return `the agent's speech has at most ${check.perMinute} gaps per minute`;
    case 'clean_protocol':
      return 'the agent keeps to the protocol of its platform';
  }
}

function levelText({ minDbfs, maxDbfs, maxClippedPercent }: Extract<SoundCheckSpec, { type: 'audio_level' }>): string {
  const hasLevel = minDbfs !== undefined || maxDbfs !== undefined;
  return [
    ...(hasLevel ? [`the agent's speech has a level of ${range(minDbfs, maxDbfs)} dBFS`] : []),
    ...(maxClippedPercent === undefined ? [] : [`at most ${maxClippedPercent} % of the agent's audio is clipped`]),
  ].join(' and ');
}

function range(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
