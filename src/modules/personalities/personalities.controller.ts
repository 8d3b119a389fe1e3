import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { CreatePersonalityRequest, UpdatePersonalityRequest } from './dto/personality.requests.js';
import { Personality } from './dto/personality.response.js';
import { PersonalitiesService } from './personalities.service.js';

const tag = 'Personalities';
const path = { id: 'Identifier of the personality' };

@Controller('personalities')
export class PersonalitiesController {
  constructor(private readonly service: PersonalitiesService) {}

  @Operation({
    summary: 'Create a personality',
    description: 'Describes a simulated caller: how it speaks and behaves. Only `name` is required.',
    tag,
    access: 'EDITOR',
    body: {
      type: CreatePersonalityRequest,
      example: {
        name: 'Impatient regular',
        description: 'Calls on the way home and wants the usual table',
        prompt: 'You are in a hurry. You interrupt when an answer is long.',
        temperature: 0.7,
        accent: 'Scottish',
        backgroundNoise: true,
        gender: 'MALE',
        voice_id: 'awb',
      },
    },
    response: { shape: 'data', type: Personality, message: 'Personality created successfully', status: 201 },
  })
  @Post()
  createPersonality(@CurrentCaller() caller: Caller, @Body() body: CreatePersonalityRequest): Promise<Personality> {
    return this.service.create(caller, body);
  }

  @Operation({
    summary: 'List personalities',
    description: 'Returns the personalities of the workspace, newest first.',
    tag,
    access: 'VIEWER',
    query: true,
    response: { shape: 'page', type: Personality, message: 'Personalities retrieved successfully' },
  })
  @Get()
  listPersonalities(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<Personality>> {
    return this.service.list(caller, query);
  }

  @Operation({
    summary: 'Get a personality',
    description: 'A simulated caller of the workspace.',
    tag,
    access: 'VIEWER',
    path,
    response: { shape: 'data', type: Personality, message: 'Personality retrieved successfully' },
  })
  @Get(':id')
  getPersonality(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Personality> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Update a personality',
    description: 'Changes the given fields and leaves all others unchanged.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: UpdatePersonalityRequest, example: { temperature: 1.1, accent: 'Irish' } },
    response: { shape: 'data', type: Personality, message: 'Personality updated successfully' },
  })
  @Patch(':id')
  updatePersonality(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: UpdatePersonalityRequest,
  ): Promise<Personality> {
    return this.service.update(caller, id, body);
  }

  @Operation({
    summary: 'Delete a personality',
    description: 'Evaluations that use it are kept, but cannot be run until they use another personality.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'message', message: 'Personality deleted successfully' },
  })
  @Delete(':id')
  deletePersonality(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.delete(caller, id);
  }
}
