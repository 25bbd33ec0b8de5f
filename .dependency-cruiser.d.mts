import type { ICruiseOptions, IFlattenedRuleSet } from 'dependency-cruiser';

export declare const SUBJECTS: Readonly<Record<string, readonly string[]>>;

declare const ruleSet: IFlattenedRuleSet & { readonly options: ICruiseOptions };
export default ruleSet;
