// Lucene as a peer of `npm run bench:peers`: reads requests as JSON lines, answers each with one line, ends with its input.
// README.md two floors up has the protocol. Owns the conversation and the clock of the process's CPU time; knows nothing of
// fields or queries.

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.lucene.util.Version;

public final class Peer {
  private static final Gson GSON = new Gson();
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Search search;

  /** What the searches have found; keeps the compiler of the virtual machine from leaving them out. */
  private long foundInAll;

  public static void main(String[] args) throws IOException {
    var peer = new Peer();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      output.println(GSON.toJson(peer.answer(GSON.fromJson(line, JsonObject.class))));
    }
  }

  private Object answer(JsonObject request) throws IOException {
    return switch (request.get("do").getAsString()) {
      case "open" -> {
        var fields = List.of(GSON.fromJson(request.get("fields"), Documents.Field[].class));
        var folder = Path.of(request.get("folder").getAsString());
        search = new Search(Documents.load(Path.of(request.get("file").getAsString()), folder, fields), fields);
        yield Map.of("name", "Lucene", "version", Version.LATEST.toString(), "documents", search.documents());
      }
      case "search" -> search.find(GSON.fromJson(request.get("query"), Search.Query.class));
      case "measure" -> measure(
          GSON.fromJson(request.get("queries"), Search.Query[].class),
          request.get("seconds").getAsDouble(),
          request.get("from").getAsInt());
      default -> throw new IllegalArgumentException("cannot do " + request.get("do"));
    };
  }

  /** Goes through the queries from number `from` round and round. Requires at least one. */
  private Object measure(Search.Query[] queries, double seconds, int from) throws IOException {
    int answered = 0;
    long cpu = SYSTEM.getProcessCpuTime();
    long started = System.nanoTime();
    while (System.nanoTime() - started < seconds * 1e9) {
      foundInAll += search.find(queries[(from + answered) % queries.length]).found();
      answered++;
    }
    return Map.of("queries", answered, "cpuSeconds", (SYSTEM.getProcessCpuTime() - cpu) / 1e9);
  }
}
