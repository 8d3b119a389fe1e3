import { expectationOf, type FaultName } from '../../libs/reference-agent/expected.js';
import { type ServerResponse } from 'node:http';
import { carryOut, createRunApp, prepareAgent, prepareEvaluations, type RunApp, shortEvaluation } from '../support/run-app.js';
import { type Heard, type ScriptAgent, startScriptAgent } from '../support/script-agent.js';
import { delta } from '../../libs/simulation/testing/servers.js';
