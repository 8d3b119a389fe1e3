export { twilioSignature } from '../signature.js';
