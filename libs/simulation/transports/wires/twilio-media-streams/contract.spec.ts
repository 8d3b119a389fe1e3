import { wireContract } from '../testing/wire-contract.js';
import { twilioMediaStreams } from './index.js';
import { twilioContractDouble } from '../../../../../test/simulators/twilio/double/contract.js';

describe('twilioMediaStreams, as every wire', () => {
  wireContract(twilioMediaStreams, twilioContractDouble, 'wss://agent.example.com/media');
});
