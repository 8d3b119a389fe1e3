import { obeyFaults } from '../../../../concurrency/testing/thread-faults.js';
import '../media-worker.js';

obeyFaults();
