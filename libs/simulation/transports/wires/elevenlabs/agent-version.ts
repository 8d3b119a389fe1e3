import { PlatformApi } from '../../http/platform-api.js';
import type { FindAgentVersion } from '../../modules/module.js';
import { objectOf, versionText } from '../fields.js';
import { versionQuery } from './options.js';
import { ELEVENLABS_RULES } from './refusals.js';

/** The newest version of the branch that is asked for, else of the main one. Agents without versions have none. */
export const elevenlabsVersion: FindAgentVersion = async (agent, { endpoint, client, signal }) => {
  const path = `/v1/convai/agents/${encodeURIComponent(agent.assistantId.toWellFormed())}`;
  const api = new PlatformApi(ELEVENLABS_RULES, { ...endpoint, client });
  return versionText(objectOf(await api.json(path, { query: versionQuery(agent), signal }))['version_id']);
};
