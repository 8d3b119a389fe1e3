import { guideOf } from '../testing/guide.js';
import { retell, retellText } from './index.js';

// The findings of the line are in the guide of SIP.
guideOf('retell.md', { ...retell, findings: {} }, retellText);
