import { createHash } from 'node:crypto';
import type { TimelineEntry } from '../../simulation/index.js';
import { renderJunit, renderReport, REPORT_CSP, type ReportedVoice } from '../index.js';
import { readerOf } from '../testing/build.js';
import { VOICE, voiceRun, voiceAudio } from '../testing/voice-run.js';
import { MAX_AUDIO } from './audio-budget.js';
import type { AudioReader } from './index.js';

async function page(calls: number, readAudio?: AudioReader, more: Parameters<typeof voiceRun>[1] = {}) {
  const { run, read } = voiceRun(calls, more);
  let text = '';
  for await (const part of renderReport(run, read, readAudio)) text += part;
  return text;
}
const all: AudioReader = (_id, wanted) => Promise.resolve(voiceAudio(wanted));
const count = (text: string, what: string | RegExp): number => text.split(what).length - 1;

describe('a voice call in a report', () => {
  it('has two lanes with waveforms, its latencies, overlaps and events on one axis', async () => {
    const text = await page(1, all);
    expect(count(text, /class="wave"/)).toBe(2);
    expect(count(text, /class="tick latency/)).toBe(2);
    expect(text).toContain('>812 ms</div>');
    expect(text).toContain('>750 ms, speech 400 ms later</div>');
    expect(text).toContain('The agent interrupts: 800 ms at once');
    expect(text).toContain('Barge-in; the agent stopped (1,750 ms)');
    expect(text).toContain('backchannel: mm-hmm');
    expect(text).toContain('mark_without_name: A mark has no name');
    for (const sign of ['▼ barge-in', '○ backchannel', '▲ protocol finding', '▷ instruction to the platform'])
      expect(text).toContain(`>${sign}</span>`);
    expect(text).not.toContain('# keys</span>');
    expect(text).toMatch(/Thank you\. A table for four, at eight\.<\/div>/);
  });

  it('shows no number of words, which are not known, and says so of tool calls', async () => {
    const text = await page(1, all);
    expect(text).toContain('Longest silence');
    expect(text).not.toMatch(/Words, caller|share of words/);
    expect(text).toMatch(/Tool calls<[^]{0,40}>not known</);
  });

  /** The agent's second answer with words: "Or fish" may have been heard, and "today" was not. */
  function withWords(): ReturnType<typeof voiceRun> {
    const { run, calls, ...rest } = voiceRun(1);
    const word = (text: string, startMs: number, more: object = {}) =>
      ({ speaker: 'agent', text, startMs, endMs: startMs + 280, source: 'wire', ...more }) as const;
    const words = [
      ...[word('We', 6_212), word('have', 6_512), word('pasta.', 6_812)],
      ...[word('Or', 9_300, { uncertain: true }), word('fish', 9_600, { uncertain: true })],
      word('today.', 9_950, { unheard: true }),
    ];
    const voice: ReportedVoice = {
      ...VOICE,
      words,
      wordsFrom: { source: 'wire', model: null, times: 'estimated' },
      measures: { ...VOICE.measures, agentWordsPerMinute: 148.4 },
    };
    const of = (entry: TimelineEntry): TimelineEntry => {
      if (entry.type !== 'speech' || entry.speaker !== 'agent') return entry;
      if (entry.start === 11_050) return { ...entry, text: 'And wine.', words: 'partly' };
      if (entry.start !== 6_212) return entry;
      return { ...entry, text: 'We have pasta. Or fish', words: 'known', uncertain: [[15, 22]], interrupted: true };
    };
    const shown = calls.map((call) => ({ ...call, voice, timeline: call.timeline.map(of) }));
    return { run, calls: shown, ...rest, read: readerOf(shown) };
  }

  it('has phrases under the lanes by the times of their words, without those that were not heard', async () => {
    const { run, read } = withWords();
    let text = '';
    for await (const part of renderReport(run, read, all)) text += part;
    const captions = [...text.matchAll(/class="caption" title="([^"]*)"/g)].map(([, title]) => title);
    expect(captions).toContain('0:06.2 to 0:07.1: We have pasta.');
    expect(captions).toContain('0:09.3 to 0:09.9: Or fish');
    expect(captions.join()).not.toContain('today');
    // Without known times: the whole entry.
    expect(captions).toContain('0:11.1 to 0:12.4: And wine.');
    expect(text).toMatch(/Words of the agent<\/dt>\s*<dd>reported by the platform, times estimated; 148 per minute</);
    expect(await page(1)).not.toContain('Words of the agent');
  });

  it('says which words of the agent are not certain or not known', async () => {
    const { run, read } = withWords();
    let text = '';
    for await (const part of renderReport(run, read)) text += part;
    expect(text).toContain('It is not certain that &#34;Or fish&#34; was heard.');
    expect(count(text, 'broken off: the rest was not heard')).toBe(1);
    expect(count(text, 'some of its words are not known')).toBe(1);
    let junit = '';
    for await (const part of renderJunit(run, read)) junit += part;
    expect(junit).toContain('Agent: We have pasta. Or fish (broken off)');
    expect(junit).toContain('Agent: And wine. (other words not known)');
    expect(junit).toContain('Agent: (words not known)');
  });

  it('says where the agent generated something else than was heard', async () => {
    const { run, calls } = withWords();
    const wordsFrom = { source: 'recogniser', model: 'whisper <1>', times: 'word' } as const;
    const of = (entry: TimelineEntry): TimelineEntry =>
      entry.type === 'speech' && entry.start === 6_212
        ? { ...entry, text: 'At 19:13, or fish', alternative: { source: 'wire', text: 'At 19:30, or fish & chips' } }
        : entry;
    const shown = calls.map((call) => ({ ...call, voice: { ...VOICE, wordsFrom }, timeline: call.timeline.map(of) }));
    let text = '';
    for await (const part of renderReport(run, readerOf(shown), all)) text += part;
    const lines = /<ul class="differences">([^]*?)<\/ul>/.exec(text)![1]!.replace(/<[^>]*>/g, '');
    expect(lines.replace(/\s+/g, ' ').trim()).toBe(
      '0:06.2 generated “19:30,”, heard “19:13,” 0:06.2 generated “chips”, heard nothing',
    );
    expect(text).toContain('transcribed by whisper &#60;1&#62;, with their times');
    expect(await page(1)).not.toContain('class="differences"');
  });

  it('does not count undecided barge-ins and backchannels as failures', async () => {
    const { run, calls } = voiceRun(1);
    const { measures } = VOICE;
    const [bargeIn] = measures.bargeIns;
    const backchannels = measures.backchannels.map((result) => ({ ...result, kept: null }));
    const bargeIns = [bargeIn!, { ...bargeIn!, yielded: null }];
    const voice = { ...VOICE, measures: { ...measures, bargeIns, backchannels } };
    let text = '';
    for await (const part of renderReport(run, readerOf(calls.map((call) => ({ ...call, voice }))))) text += part;
    expect(text).toContain('1 of 1 yielded to, 1 undecided');
    expect(text).toMatch(/Backchannels and noises<\/dt>\s*<dd>1 undecided</);
  });

  it('shows background audio under the agent’s voice, if there was any', async () => {
    const { run, calls } = voiceRun(1);
    const voice = { ...VOICE, measures: { ...VOICE.measures, background: { dbfs: -43.6, fromMs: 1_240 } } };
    let text = '';
    for await (const part of renderReport(run, readerOf(calls.map((call) => ({ ...call, voice }))))) text += part;
    expect(text).toMatch(/Background audio<\/dt>\s*<dd>-43\.6 dBFS from 1\.24 s on</);
    expect(await page(1)).not.toContain('Background audio');
  });

  it('shows no numbers of an agent that was never heard', async () => {
    const { run, calls } = voiceRun(1);
    const { measures, frameLatenessMs: _, ...heard } = VOICE;
    const unheard = {
      interruptions: [],
      overlapMs: null,
      choppiness: { gaps: 0, perMinute: null },
      level: { agentDbfs: null, clippedPercent: null },
    };
    const voice = { ...heard, measures: { ...measures, ...unheard } };
    let text = '';
    for await (const part of renderReport(run, readerOf(calls.map((call) => ({ ...call, voice }))))) text += part;
    expect(text).toContain('Dead air');
    expect(text).not.toMatch(/Interruptions by the agent|Gaps in the audio|Level<|Tester’s lateness|null/);
  });

  it('carries the audio of calls that did not pass, up to a limit, and the player once', async () => {
    const text = await page(50, all);
    const fitting = Math.floor(MAX_AUDIO.page / VOICE.recording!.bytes);
    expect(count(text, '<audio ')).toBe(fitting);
    expect(count(text, '<script>')).toBe(1);
    const passed = text.slice(text.indexOf('class="call passed"'));
    expect(passed.slice(0, passed.indexOf('</details>'))).not.toContain('<audio');
  });

  it('has no script but the one that its policy allows', async () => {
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(await page(1, all)) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(REPORT_CSP).toContain(`; script-src 'sha256-${hash}'; media-src data:;`);
  });

  it('says how to listen to other calls', async () => {
    const here = await page(50, all, { serviceUrl: 'https://vat.example.com' });
    expect(here).toMatch(/<a href="https:\/\/vat\.example\.com\/calls\/[\w-]+\/recording">/);
    expect(await page(50, all)).toMatch(/Listen with <code>GET \/calls\/[\w-]+\/recording<\/code>/);
  });

  it('has lanes without waveforms and no script if its recording may not be shown or was deleted', async () => {
    for (const readAudio of [undefined, () => Promise.resolve(undefined)]) {
      const text = await page(2, readAudio);
      expect(count(text, /class="heard"/)).toBe(2);
      expect(count(text, /class="wave"/)).toBe(0);
      expect(text).not.toMatch(/<audio|<script/);
    }
  });
});
