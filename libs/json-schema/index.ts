/** JSON Schema 2020-12 for schemas of strangers: interpreted, so that nothing is compiled, and with a limit of steps. */
export { schemaFaults } from './schema-faults.js';
export { TooManySteps, validateJson } from './validate-json.js';
