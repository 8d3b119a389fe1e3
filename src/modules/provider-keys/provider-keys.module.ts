import { Module } from '@nestjs/common';
import { ProviderKeysService } from './provider-keys.service.js';

@Module({ providers: [ProviderKeysService], exports: [ProviderKeysService] })
export class ProviderKeysModule {}
