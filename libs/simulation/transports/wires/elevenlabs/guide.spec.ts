import { guideOf } from '../testing/guide.js';
import { elevenlabs, elevenlabsText } from './index.js';

guideOf('elevenlabs.md', elevenlabs, elevenlabsText);
