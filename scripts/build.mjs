// @ts-check
// Run by npm before it packs the project.
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
