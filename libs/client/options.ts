import { type Command, InvalidArgumentError, Option } from 'commander';

export const COMPARE_WITH = new Option('--compare-with <run>', 'show the run beside this one: previous, or an id');

/** Of commands that call agents. */
export const YES = new Option('--yes', 'dial telephone numbers without asking, which happens on a terminal only');

/** Of commands that call the service. */
export const SERVICE_OPTIONS = [new Option('--url <address>', 'URL of the service, overrides VAT_URL')];

/** Of commands that follow a run. */
export const FOLLOW_OPTIONS = [
  COMPARE_WITH,
  new Option('--timeout <seconds>', 'stop after this time and cancel the run that the command started').argParser(
    seconds,
  ),
  new Option('--junit <file>', 'write the results as JUnit XML'),
  new Option('--json <file>', 'write the run, its evaluations and calls as JSON'),
  new Option('--markdown <file>', 'write a table as Markdown; appended to $GITHUB_STEP_SUMMARY'),
  new Option('--report <file>', 'write the report as an HTML page with transcripts and evidence'),
];

/** Adds options after the command's own, which come first in its help. */
export function addOptions(command: Command, ...groups: (readonly Option[])[]): void {
  for (const option of groups.flat()) command.addOption(option);
}

/** Ends a command without an option that it needs. Commander's `requiredOption` would hide a misspelt option. */
export const missingOption = (command: Command, flags: string): never =>
  command.error(`error: required option '${flags}' not specified`);

/** In seconds; longer timers overflow and fire immediately. */
const MAX_TIMEOUT_SECONDS = 2_000_000;

export function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Must be a whole number.');
}

function seconds(text: string): number {
  const value = wholeNumber(text);
  if (value >= 1 && value <= MAX_TIMEOUT_SECONDS) return value;
  throw new InvalidArgumentError(`Must be a number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}.`);
}
