import { createHash } from 'node:crypto';
import { CSS } from './css.js';
import { Html } from './html.js';

/** The style element. Its text must match the hash in the policy exactly. */
export const STYLE = Html.trusted(`<style>${CSS}</style>`);

const hash = createHash('sha256').update(CSS).digest('base64');

/** The part of the policy that a page can contain, which also protects saved copies. */
export const META_CSP = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;

/** Content-Security-Policy of reports: no requests, no scripts, no framing. */
export const REPORT_CSP = `${META_CSP}; frame-ancestors 'none'`;
