import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.AODE;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.bayes.net.search.local.TAN;
import weka.classifiers.trees.J48;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;

/**
 * Weka's Naive Bayes, TAN, AODE and J48, as they come, on data sets that simstudy drew.
 *
 * "study DATA SCORES" fits each of them to every training set, answers the test set, and writes one
 * line for each cell: model, size, learner, information reward and, of TAN, the parent of each
 * attribute. "time DATA PASSES" does the same without scores, again and again, and prints one line
 * for each learner and training set with the milliseconds of every pass.
 *
 * DATA holds for each model its cards, the target's last, and then the test set and the training
 * sets, one byte for each value, row by row; every number before that is an int. Or it is a folder
 * with the same as ARFF files, 0_0.arff being the test set of the first model.
 */
public class RunWeka {
  static final String[] LEARNERS = {"NB", "TAN", "AODE", "C4.5"};

  public static void main(String[] arguments) throws Exception {
    File data = new File(arguments[1]);
    Instances[][] models = data.isDirectory() ? readArff(data) : read(data);
    if (arguments[0].equals("study")) {
      study(models, arguments[2]);
    } else {
      time(models, Integer.parseInt(arguments[2]));
    }
  }

  static Classifier make(String learner) {
    switch (learner) {
      case "NB":
        return new NaiveBayes();
      case "TAN":
        BayesNet network = new BayesNet();
        network.setSearchAlgorithm(new TAN());
        return network;
      case "AODE":
        return new AODE();
      default:
        return new J48();
    }
  }

  static void study(Instances[][] models, String file) throws Exception {
    try (PrintWriter scores = new PrintWriter(file)) {
      scores.println("model,size,learner,information_reward,tree");
      for (int model = 0; model < models.length; model++) {
        Instances test = models[model][0];
        for (int set = 1; set < models[model].length; set++) {
          Instances train = models[model][set];
          for (String learner : LEARNERS) {
            Classifier classifier = make(learner);
            classifier.buildClassifier(train);
            double score = reward(classifier, train, test);
            String start = model + "," + train.numInstances() + "," + learner;
            scores.println(start + "," + score + "," + tree(classifier));
          }
        }
      }
    }
  }

  /** Hope & Korb (2004), equation 10, against the training set's frequencies, counted from 1/2. */
  static double reward(Classifier classifier, Instances train, Instances test) throws Exception {
    int classes = train.numClasses();
    double total = train.numInstances() + classes / 2.0;
    double least = 0.5 / total;
    double most = (train.numInstances() + 0.5) / total;
    double[] prior = new double[classes];
    for (int row = 0; row < train.numInstances(); row++) {
      prior[(int) train.instance(row).classValue()] += 1 / total;
    }
    for (int c = 0; c < classes; c++) prior[c] += 0.5 / total;
    double sum = 0;
    for (int row = 0; row < test.numInstances(); row++) {
      double[] answer = classifier.distributionForInstance(test.instance(row));
      int truth = (int) test.instance(row).classValue();
      for (int c = 0; c < classes; c++) {
        double q = Math.min(Math.max(answer[c], least), most);
        sum += c == truth ? Math.log(q / prior[c]) : Math.log((1 - q) / (1 - prior[c]));
      }
    }
    return sum / classes / test.numInstances();
  }

  /** The parent of each attribute beside the class, -1 for none; empty but for a network. */
  static String tree(Classifier classifier) {
    if (!(classifier instanceof BayesNet)) return "";
    BayesNet network = (BayesNet) classifier;
    int target = network.getNrOfNodes() - 1;
    StringBuilder parents = new StringBuilder();
    for (int node = 0; node < target; node++) {
      int parent = -1;
      for (int i = 0; i < network.getNrOfParents(node); i++) {
        if (network.getParent(node, i) != target) parent = network.getParent(node, i);
      }
      parents.append(node == 0 ? "" : " ").append(parent);
    }
    return parents.toString();
  }

  static void time(Instances[][] models, int passes) throws Exception {
    for (String learner : LEARNERS) {
      double[][] milliseconds = new double[models.length][passes];
      for (int pass = 0; pass < passes; pass++) {
        for (int model = 0; model < models.length; model++) {
          Instances test = models[model][0];
          long start = System.nanoTime();
          Classifier classifier = make(learner);
          classifier.buildClassifier(models[model][1]);
          for (int row = 0; row < test.numInstances(); row++) {
            classifier.distributionForInstance(test.instance(row));
          }
          milliseconds[model][pass] = (System.nanoTime() - start) / 1e6;
        }
      }
      for (double[] model : milliseconds) {
        StringBuilder line = new StringBuilder(learner);
        for (double time : model) line.append(' ').append(time);
        System.out.println(line);
      }
    }
  }

  /** The data sets of each model, the test set first. */
  static Instances[][] read(File file) throws Exception {
    FileInputStream bytes = new FileInputStream(file);
    try (DataInputStream input = new DataInputStream(new BufferedInputStream(bytes, 1 << 16))) {
      Instances[][] models = new Instances[input.readInt()][];
      for (int model = 0; model < models.length; model++) {
        int variables = input.readInt();
        FastVector attributes = new FastVector(variables);
        for (int v = 0; v < variables; v++) {
          int card = input.readInt();
          FastVector values = new FastVector(card);
          for (int value = 0; value < card; value++) values.addElement(Integer.toString(value));
          attributes.addElement(new Attribute("v" + v, values));
        }
        models[model] = new Instances[input.readInt()];
        for (int set = 0; set < models[model].length; set++) {
          byte[] codes = new byte[input.readInt() * variables];
          input.readFully(codes);
          Instances rows = new Instances("rows", attributes, codes.length / variables);
          rows.setClassIndex(variables - 1);
          for (int place = 0; place < codes.length; place += variables) {
            double[] row = new double[variables];
            for (int v = 0; v < variables; v++) row[v] = codes[place + v];
            rows.add(new Instance(1.0, row));
          }
          models[model][set] = rows;
        }
      }
      return models;
    }
  }

  static Instances[][] readArff(File folder) throws Exception {
    int models = 0;
    int sets = 0;
    while (new File(folder, models + "_0.arff").exists()) models++;
    while (new File(folder, "0_" + sets + ".arff").exists()) sets++;
    Instances[][] data = new Instances[models][sets];
    for (int model = 0; model < models; model++) {
      for (int set = 0; set < sets; set++) {
        File file = new File(folder, model + "_" + set + ".arff");
        try (BufferedReader reader = new BufferedReader(new FileReader(file))) {
          data[model][set] = new Instances(reader);
          data[model][set].setClassIndex(data[model][set].numAttributes() - 1);
        }
      }
    }
    return data;
  }
}
