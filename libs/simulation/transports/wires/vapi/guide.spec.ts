import { guideOf } from '../testing/guide.js';
import { vapi, vapiChat } from './index.js';

guideOf('vapi.md', vapi, vapiChat);
