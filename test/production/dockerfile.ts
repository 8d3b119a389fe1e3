import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Copy, DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

/** The image of a Dockerfile, built in folders because this machine may have no container engine. */
export interface Image {
  /** The final stage's working directory. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The ordinary user that stands for `node` of the base image. */
const ORDINARY = { user: 'nobody', owner: 'nobody:nogroup' };

/**
 * Lints a Dockerfile and executes its instructions: each stage is a folder, COPY copies between them and RUN runs with sh.
 * Knows the instructions that this project uses; an unknown one is an error.
 * @param context folder with the files that the build may read
 * @param scratch folder for the stages
 */
export function buildImage(context: string, scratch: string): Image {
  const text = readFileSync(path.join(context, 'Dockerfile'), 'utf8');
  const violations = validate(text).map(
    ({ message, range }) => `line ${range.start.line + 1}: ${typeof message === 'string' ? message : message.value}`,
  );
  if (violations.length > 0) throw new Error(`Dockerfile: ${violations.join('; ')}`);

  const stages = new Map<string, string>();
  const env: Record<string, string> = {};
  let [stage, directory, user] = ['', '/', 'root'];
  let command: string[] = [];
  let healthCheck: string[] = [];
  const inStage = (file: string) => path.join(stage, path.resolve(directory, file));

  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword();
    const words = (instruction.getArgumentsContent() ?? '').replaceAll(/\\\n\s*/g, ' ').trim();
    switch (keyword) {
      case 'FROM': {
        const name = /\sAS\s+(\S+)$/i.exec(words)?.[1] ?? 'final';
        stage = path.join(scratch, name);
        stages.set(name, stage);
        mkdirSync(stage, { recursive: true });
        [directory, user] = ['/', 'root'];
        break;
      }
      case 'WORKDIR':
        directory = words;
        mkdirSync(inStage('.'), { recursive: true });
        break;
      case 'ENV':
        Object.assign(env, Object.fromEntries(words.split(/\s+/).map((pair) => pair.split('='))));
        break;
      case 'COPY': {
        const parts = words.split(/\s+/);
        const flag = (instruction as Copy).getFromFlag()?.getValue();
        const from = flag ? stages.get(flag)! : context;
        const target = parts.pop()!;
        for (const part of parts) copy(path.join(from, part), inStage(target), target.endsWith('/'));
        break;
      }
      case 'RUN': {
        const script = words.replaceAll('node:node', ORDINARY.owner);
        console.log(`RUN ${script}`);
        const { status } = spawnSync('sh', ['-c', script], {
          cwd: inStage('.'),
          stdio: 'inherit',
          env: { ...process.env, ...env },
        });
        if (status !== 0) throw new Error(`RUN ${script} failed with status ${status}`);
        break;
      }
      case 'USER':
        user = words === 'node' ? ORDINARY.user : words;
        break;
      case 'HEALTHCHECK':
        healthCheck = JSON.parse(words.slice(words.indexOf('['))) as string[];
        break;
      case 'CMD':
        command = JSON.parse(words) as string[];
        break;
      case 'VOLUME':
      case 'EXPOSE':
        break;
      default:
        throw new Error(`The instruction ${keyword} is not supported by this check`);
    }
  }
  return { folder: inStage('.'), command, healthCheck, user, env };
}

/** As COPY does: the content of a folder, or a file, into a folder if the target is one. */
function copy(from: string, to: string, isFolder: boolean): void {
  cpSync(from, isFolder ? path.join(to, path.basename(from)) : to, { recursive: true, verbatimSymlinks: true });
}

/** The files that git knows and that .dockerignore does not exclude. */
export function copyContext(root: string, context: string): void {
  const ignored = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  for (const file of files) {
    if (!ignored.some((entry) => file === entry || file.startsWith(`${entry}/`))) {
      cpSync(path.join(root, file), path.join(context, file), { recursive: true });
    }
  }
}
