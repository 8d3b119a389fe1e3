import { PlatformApi } from '../../http/platform-api.js';
import type { FindAgentVersion } from '../../modules/module.js';
import { objectOf, versionText } from '../fields.js';
import { VAPI_RULES } from './refusals.js';

/** Null for organisations without versions, and for assistants that were not published. */
export const vapiChatVersion: FindAgentVersion = async ({ assistantId }, { endpoint, client, signal }) => {
  const path = `/assistant/${encodeURIComponent(assistantId.toWellFormed())}`;
  const assistant = await new PlatformApi(VAPI_RULES, { ...endpoint, client }).json(path, { signal });
  return versionText(objectOf(assistant)['latestVersion']);
};

/** Versions do not change, and have the names by which calls ask for them. */
export const vapiVersion: FindAgentVersion = async (agent, request) =>
  versionText(agent.assistantVersion) ?? vapiChatVersion(agent, request);
