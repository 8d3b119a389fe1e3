import { wireContract } from '../testing/wire-contract.js';
import { elevenlabs } from './index.js';
import { elevenlabsContractDouble, SIGNED_URL } from '../../../../../test/simulators/elevenlabs/double/contract.js';
import { StubClient } from '../testing/stub-client.js';

describe('elevenlabs, as every wire', () => {
  const client = new StubClient(JSON.stringify({ signed_url: SIGNED_URL }));
  wireContract(elevenlabs, elevenlabsContractDouble, 'https://api.example.com', client);
});
