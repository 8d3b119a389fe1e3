export { type DialledNumber, NumberRules } from './number-rules.js';
