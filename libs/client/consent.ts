import { CommandError, EXIT } from './errors.js';
import type { Io } from './io.js';
import { diallingText } from './printed.js';
import type { RunPlan } from './service.js';

export interface Consent {
  /** Telephone numbers are dialled without a question. */
  readonly yes?: boolean;
}

/** Asks on a terminal before telephone numbers ring. @throws CommandError without consent */
export async function requireConsent({ yes }: Consent, io: Io): Promise<void> {
  if (yes || (await io.confirm?.('Dial?')) !== false) return;
  throw new CommandError(EXIT.noResult, 'Nothing was started', [], 'Answer y, or add --yes.');
}

/** The same for what a plan dials, which is printed; without a question nothing is planned. @throws CommandError */
export async function consentTo(planned: () => Promise<RunPlan>, consent: Consent, io: Io): Promise<void> {
  if (consent.yes || !io.confirm) return;
  const { dialling } = await planned();
  for (const line of diallingText(dialling)) io.stderr.write(`${line}\n`);
  if (dialling) await requireConsent(consent, io);
}
