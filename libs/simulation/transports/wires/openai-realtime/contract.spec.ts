import { wireContract } from '../testing/wire-contract.js';
import { openaiRealtime } from './index.js';
import { realtimeContractDouble } from '../../../../../test/simulators/openai-realtime/double/contract.js';

describe('openaiRealtime, as every wire', () => {
  wireContract(openaiRealtime, realtimeContractDouble, 'wss://agent.example.com/v1/realtime?model=booking');
});
