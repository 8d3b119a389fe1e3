import { type PlatformRules, Refusals } from '../../http/platform-rules.js';

const KEY = 'check the apiKey of the agent, and what it may do';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same workspace of Retell';
/** What to do while all calls at once that an account may have are in use. */
export const BUSY = 'wait, or raise the limit of the account on calls at once';
export const REFUSALS = new Refusals([], {
  400: 'check the version that the run asks for, and the dynamic variables',
  401: KEY,
  402: 'check the credit and the plan of the account',
  403: KEY,
  404: AGENT,
  422: AGENT,
  429: BUSY,
});

/** How the API of Retell is asked. */
export const RETELL_RULES: PlatformRules = {
  vendorHost: /(^|\.)retellai\.com\.?$/i,
  authorization: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  refused: REFUSALS.refused,
};
