import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { invalidFields, shownName, unknownField } from './issues.js';

/** Refuses query parameters where none is known, as the validation does where some are (decisions). */
@Injectable()
export class NoQueryInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const names = Object.keys(context.switchToHttp().getRequest<Request>().query);
    if (names.length > 0) throw invalidFields(names.map((name) => unknownField(shownName(name))));
    return next.handle();
  }
}

/** The route takes no query parameters. */
export const TakesNoQuery = (): MethodDecorator => UseInterceptors(NoQueryInterceptor);
