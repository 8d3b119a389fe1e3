import { Body, Controller, Get, Patch } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { UpdateWorkspaceRequest, Workspace } from './dto/workspace.dtos.js';
import { WorkspacesService } from './workspaces.service.js';

const tag = 'Workspace settings';

@Controller('workspace')
export class WorkspacesController {
  constructor(private readonly service: WorkspacesService) {}

  @Operation({
    summary: 'Get the workspace',
    description: 'The workspace that the API key belongs to.',
    tag,
    access: 'VIEWER',
    response: { shape: 'data', type: Workspace, message: 'Workspace retrieved successfully' },
  })
  @Get()
  getWorkspace(@CurrentCaller() caller: Caller): Promise<Workspace> {
    return this.service.read(caller);
  }

  @Operation({
    summary: 'Update the workspace',
    description: 'Changes the given fields. Plan and rate limit are set by the administrator of the service.',
    tag,
    access: 'ADMIN',
    body: { type: UpdateWorkspaceRequest, example: { name: 'Acme', scoreThreshold: 80 } },
    response: { shape: 'data', type: Workspace, message: 'Workspace updated successfully' },
  })
  @Patch()
  updateWorkspace(@CurrentCaller() caller: Caller, @Body() body: UpdateWorkspaceRequest): Promise<Workspace> {
    return this.service.update(caller, body);
  }
}
