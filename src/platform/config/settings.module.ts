import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Settings } from './settings.js';

/** Injection token of the typed settings. */
export const SETTINGS = Symbol('SETTINGS');

/** Provides the settings, read once at start, to every module. */
@Global()
@Module({})
export class SettingsModule {
  static forRoot(settings: Settings): DynamicModule {
    return { module: SettingsModule, providers: [{ provide: SETTINGS, useValue: settings }], exports: [SETTINGS] };
  }
}
