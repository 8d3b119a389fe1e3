import type { FindAgentVersion } from '../../modules/module.js';
import { versionText } from '../fields.js';
import { RetellApi } from '../retell-api/api.js';

/** The playground and this description both take the latest version unless another one is asked for. */
export const retellVersion: FindAgentVersion = async ({ assistantId, assistantVersion: asked }, request) => {
  const { endpoint, client, signal } = request;
  const agent = await new RetellApi({ ...endpoint, client }).object(
    `/get-agent/${encodeURIComponent(assistantId.toWellFormed())}`,
    { signal, ...(asked !== undefined && { query: { version: asked } }) },
  );
  return versionText(agent['version']);
};
