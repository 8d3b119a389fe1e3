import { pipecatContractDouble } from '../../../../../test/simulators/pipecat/contract.js';
import { wireContract } from '../testing/wire-contract.js';
import { pipecat } from './index.js';

describe('pipecat, as every wire', () => {
  wireContract(pipecat, pipecatContractDouble, 'wss://agent.example.com/ws-client');
});
