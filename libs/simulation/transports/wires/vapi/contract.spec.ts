import { wireContract } from '../testing/wire-contract.js';
import { StubClient } from '../testing/stub-client.js';
import { vapi } from './index.js';
import { createdCall, vapiContractDouble } from '../../../../../test/simulators/vapi/contract.js';

describe('vapi, as every wire', () => {
  wireContract(vapi, vapiContractDouble, vapi.defaultUrl!, new StubClient(JSON.stringify(createdCall())));
});
