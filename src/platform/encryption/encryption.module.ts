import { type DynamicModule, Global, Module } from '@nestjs/common';
import { KeyRing } from './key-ring.js';

/** Provides the key ring to every module. */
@Global()
@Module({})
export class EncryptionModule {
  static forRoot(keyRing: KeyRing): DynamicModule {
    return { module: EncryptionModule, providers: [{ provide: KeyRing, useValue: keyRing }], exports: [KeyRing] };
  }
}
