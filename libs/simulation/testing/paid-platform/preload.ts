import { addPaidPlatform } from './register.js';

/** For processes of the service: `node --import`. */
addPaidPlatform();
