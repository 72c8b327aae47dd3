// OpenAPI paths for the coach endpoints. Plain data.
import { RECOMMENDATION_STATUSES } from "../../catalog/records/recommendation.js";
import { ref } from "./components.js";
import {
  data,
  jsonBody,
  listOf,
  operation,
  type PathItem,
  pathParameter,
  queryParameter,
} from "./operations.js";

const INDEX = pathParameter("name", "Name of the index.");
const RECOMMENDATION = pathParameter("id", "Number of the recommendation.", "integer");
const ONE = "/v1/coach/recommendations/{id}";
const TAG = "coach";

export const coachPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes/{name}/coach/analyze": {
    post: operation(TAG, "analyze", "Look through the log for advice. Each call counts against the plan.", {
      parameters: [INDEX],
      body: jsonBody("AnalysisInput"),
      replies: { 200: data("What was looked at and what was saved.", ref("Analysis")) },
    }),
  },
  "/v1/indexes/{name}/coach/recommendations": {
    get: operation(TAG, "listRecommendations", "The recommendations of an index, newest first.", {
      parameters: [
        INDEX,
        queryParameter("status", "Which ones.", { enum: RECOMMENDATION_STATUSES, default: "pending" }),
      ],
      replies: { 200: data("The recommendations.", listOf("Recommendation")) },
    }),
  },
  [`${ONE}/apply`]: {
    post: operation(TAG, "applyRecommendation", "Make the synonym or the rule, or acknowledge.", {
      parameters: [RECOMMENDATION],
      replies: { 200: data("Applied.", ref("DecidedRecommendation")) },
      also: [409],
    }),
  },
  [`${ONE}/dismiss`]: {
    post: operation(TAG, "dismissRecommendation", "Say no; its term is not proposed again for 30 days.", {
      parameters: [RECOMMENDATION],
      replies: { 200: data("Dismissed.", ref("DecidedRecommendation")) },
      also: [409],
    }),
  },
};
