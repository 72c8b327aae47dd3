// From a file of JSON lines to an index of one segment. A field of the documents becomes up to four fields of the index: its text
// under its own name, its values to filter by as <name>_value and to count as <name>_facet, its number as <name>_number.

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoubleField;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.facet.FacetsConfig;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

final class Documents {
  static final String ID = "_id";
  private static final int WRITER_MEGABYTES = 200;

  private static final FieldType WORDS = new FieldType(TextField.TYPE_NOT_STORED);

  static {
    WORDS.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    WORDS.freeze();
  }

  private Documents() {}

  /** text: searched for words; values: filtered by whole values and counted; number: filtered by ranges and sorted by. */
  record Field(String name, boolean text, boolean values, boolean number) {
    String valueName() {
      return name + "_value";
    }

    String facetName() {
      return name + "_facet";
    }

    String numberName() {
      return name + "_number";
    }
  }

  /** Runs of letters and digits, in lower case, without accents. */
  static Analyzer analyzer() {
    return new Analyzer() {
      @Override
      protected TokenStreamComponents createComponents(String field) {
        var words = CharTokenizer.fromTokenCharPredicate(Character::isLetterOrDigit);
        return new TokenStreamComponents(words, normalize(field, words));
      }

      /** Of the words of queries, too. */
      @Override
      protected TokenStream normalize(String field, TokenStream words) {
        return new ASCIIFoldingFilter(new LowerCaseFilter(words));
      }
    };
  }

  /** Each field's values are counted by themselves. */
  static FacetsConfig facetsConfig(List<Field> fields) {
    var config = new FacetsConfig();
    for (var field : fields) {
      config.setMultiValued(field.name(), true);
      config.setIndexFieldName(field.name(), field.facetName());
    }
    return config;
  }

  /** Requires an empty `folder`. The reader lives as long as the process. */
  static DirectoryReader load(Path file, Path folder, List<Field> fields) throws IOException {
    var directory = FSDirectory.open(folder);
    var facets = facetsConfig(fields);
    var settings = new IndexWriterConfig(analyzer()).setRAMBufferSizeMB(WRITER_MEGABYTES);
    try (var writer = new IndexWriter(directory, settings); var lines = Files.newBufferedReader(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        writer.addDocument(facets.build(documentOf(JsonParser.parseString(line).getAsJsonObject(), fields)));
      }
      writer.forceMerge(1);
    }
    return DirectoryReader.open(directory);
  }

  private static Document documentOf(JsonObject given, List<Field> fields) {
    var document = new Document();
    document.add(new BinaryDocValuesField(ID, new BytesRef(given.get("id").getAsString())));
    for (var field : fields) {
      var value = given.get(field.name());
      for (String text : texts(value)) {
        if (field.text()) document.add(new org.apache.lucene.document.Field(field.name(), text, WORDS));
        if (!field.values() || text.isEmpty()) continue;
        document.add(new StringField(field.valueName(), text, Store.NO));
        document.add(new SortedSetDocValuesFacetField(field.name(), text));
      }
      if (field.number() && value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()) {
        document.add(new DoubleField(field.numberName(), value.getAsDouble(), Store.NO));
      }
    }
    return document;
  }

  /** A text, or each text of a list. */
  private static List<String> texts(JsonElement value) {
    var list = new JsonArray();
    if (value instanceof JsonArray given) list = given;
    else if (value != null) list.add(value);
    var texts = new ArrayList<String>();
    for (var one : list) {
      if (one.isJsonPrimitive() && one.getAsJsonPrimitive().isString()) texts.add(one.getAsString());
    }
    return texts;
  }
}
