import { createHash } from 'node:crypto';
import { CSS } from './css.js';
import { Html } from './html.js';

/** The style sheet as an element. The policy names its hash, so it stands between the tags to the letter. */
export const STYLE = Html.trusted(`<style>${CSS}</style>`);

const hash = createHash('sha256').update(CSS).digest('base64');

/** As far as a page can state it itself: it holds in a saved copy, too. */
export const META_CSP = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;

/** The Content-Security-Policy to send with a report: it may load nothing, run nothing, and be framed by nobody. */
export const REPORT_CSP = `${META_CSP}; frame-ancestors 'none'`;
