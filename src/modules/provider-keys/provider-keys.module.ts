import { Module } from '@nestjs/common';
import { ProviderKeysController } from './provider-keys.controller.js';
import { ProviderKeysService } from './provider-keys.service.js';

@Module({
  controllers: [ProviderKeysController],
  providers: [ProviderKeysService],
  exports: [ProviderKeysService],
})
export class ProviderKeysModule {}
