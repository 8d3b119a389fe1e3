import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadEnvFile } from 'node:process';
import { PROJECT_ROOT } from '../files/project-root.js';
import { SettingsError } from './settings.js';

/**
 * Adds the settings of the file `.env` in the project's root to the environment, if there is one. Variables that are set
 * already take precedence.
 * @throws SettingsError if the file cannot be read
 */
export function readEnvFile(file = path.join(PROJECT_ROOT, '.env')): void {
  if (!existsSync(file)) return;
  try {
    loadEnvFile(file);
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
