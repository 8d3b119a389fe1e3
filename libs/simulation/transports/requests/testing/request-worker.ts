import { obeyFaults } from '../../../../concurrency/testing/thread-faults.js';
import '../request-worker.js';

obeyFaults();
