import { createHash } from 'node:crypto';
import { AGENT_CSS } from './agent/css.js';
import { CSS as BASE_CSS } from './css.js';
import { FILTER_CSS } from './filter.js';
import { Html } from './html.js';
import { PLAYER_CSP, VOICE_CSS } from './voice/index.js';

const CSS = BASE_CSS + FILTER_CSS + VOICE_CSS + AGENT_CSS;

/** The style element. Its text must match the hash in the policy exactly. */
export const STYLE = Html.trusted(`<style>${CSS}</style>`);

const hash = createHash('sha256').update(CSS).digest('base64');

/** The part of the policy that a page can contain, which also protects saved copies. */
export const META_CSP = `default-src 'none'; style-src 'sha256-${hash}'; ${PLAYER_CSP}; base-uri 'none'; form-action 'none'`;

/** Content-Security-Policy of reports: no requests, no script but the player's, no framing. */
export const REPORT_CSP = `${META_CSP}; frame-ancestors 'none'`;
